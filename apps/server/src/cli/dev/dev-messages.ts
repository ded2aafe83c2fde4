/** Messages between `tutti dev` and the server process that it starts. */

/** A file that the server depends on, with its state when it was read. */
export interface SeenFile {
  readonly path: string
  /** As returned by `readFileSignature`. */
  readonly signature: string
}

/** Message from the server process. */
export type FromServer =
  | { readonly kind: 'file'; readonly file: SeenFile }
  | {
      readonly kind: 'ready'
      readonly url: string
      readonly hasDashboard: boolean
      /** Port that was assigned when port 0 was requested; restarts reuse it. */
      readonly chosenPort?: string
      /** Description of what is served without a config file. */
      readonly notice?: string
    }
  | {
      readonly kind: 'failed'
      readonly message: string
      /** Whether editing a file may fix the failure. */
      readonly isFixable: boolean
    }

/** Message to the server process. */
export interface ToServer {
  readonly kind: 'stop'
}

/** Hidden option that `tutti dev` passes to its server process. */
export const SERVE = '--serve'
