export * from '../pipeline/batches-run.ts'
