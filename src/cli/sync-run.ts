export * from '../pipeline/sync-run.ts'
