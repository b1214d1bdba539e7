import type { Storage } from './storage.ts'

export const s3Storage = (_address: string): Storage => {
  throw new Error('not yet')
}
