/** Turns texts into vectors that are near where the texts mean something similar. */

export interface Embedder {
  /** Part of the index's identity: vectors of another name cannot be used. */
  readonly name: string
  readonly dimensions: number
  /** Cosine similarity from which on a text counts as found, -1 to 1. Every embedder has its own scale. */
  readonly minSimilarity: number
  /**
   * Vectors of length 1, in the order of the texts; all zeros, and so near nothing, for a text with nothing to embed.
   * @throws {ToolkitError} EMBEDDER_FAILED
   */
  embed(strings: readonly string[], signal?: AbortSignal): Promise<readonly Float32Array[]>
}

/** An embedder as the description of an index has it; without one the index has no vectors. */
export const embedderFacts = (embedder: Embedder | undefined) => ({
  name: embedder?.name ?? 'none',
  dimensions: embedder?.dimensions ?? 0,
})

/** A vector as the text that SQL casts to FLOAT[n]; for binding. */
export const vectorText = (vector: Float32Array): string => `[${vector.join(',')}]`

/** A vector scaled to length 1; one of zeros stays. */
export const unitLength = (vector: Float32Array): Float32Array => {
  let squares = 0
  for (const value of vector) squares += value * value
  const length = Math.sqrt(squares)
  return length > 0 ? vector.map((value) => value / length) : vector
}
