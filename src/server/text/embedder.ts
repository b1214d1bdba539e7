/** Turns texts into vectors that are near where the texts mean the like. */

export interface Embedder {
  /** Tells copies apart: vectors of another name are of no use. */
  readonly name: string
  readonly dimensions: number
  /** Vectors of length 1, in the order of the texts. @throws {ToolkitError} EMBEDDER_FAILED */
  embed(texts: readonly string[], signal?: AbortSignal): Promise<readonly Float32Array[]>
}
