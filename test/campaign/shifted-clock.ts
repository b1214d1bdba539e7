/** The clock of this process, moved to other days. What runs in other processes and in DuckDB keeps the real one. */

export class ShiftedClock implements Disposable {
  readonly #real = Date
  #shiftMs = 0

  constructor() {
    const now = (): number => this.#real.now() + this.#shiftMs
    globalThis.Date = new Proxy(this.#real, {
      construct: (real, args: [], target) =>
        Reflect.construct(real, args.length === 0 ? [now()] : args, target),
      get: (real, name) => (name === 'now' ? now : Reflect.get(real, name)),
    })
  }

  /** From now on it is this instant, and time goes on from there. */
  moveTo(instantMs: number): void {
    this.#shiftMs = instantMs - this.#real.now()
  }

  [Symbol.dispose](): void {
    globalThis.Date = this.#real
  }
}
