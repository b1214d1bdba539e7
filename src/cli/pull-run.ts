export * from '../pipeline/pull-run.ts'
