/** What `tutti dev` and the server process that it starts tell each other. */

/** A file that the server depends on, and how it was when it was read. */
export interface SeenFile {
  readonly path: string
  /** As `signatureOf` gives it. */
  readonly signature: string
}

/** From the server process. */
export type FromServer =
  | { readonly kind: 'file'; readonly file: SeenFile }
  | {
      readonly kind: 'ready'
      readonly url: string
      readonly hasDashboard: boolean
      /** The port, when any free one was asked for; a restart keeps it. */
      readonly chosenPort?: string
      /** What is served when there is no config file. */
      readonly notice?: string
    }
  | {
      readonly kind: 'failed'
      readonly message: string
      /** Whether a change of a file may mend it. */
      readonly isMendable: boolean
    }

/** To the server process. */
export interface ToServer {
  readonly kind: 'stop'
}

/** The hidden option with which `tutti dev` starts its server process. */
export const SERVE = '--serve'
