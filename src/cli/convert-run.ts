export * from '../pipeline/convert-run.ts'
