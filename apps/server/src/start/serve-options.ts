/** The options and the result of `serve()`. */
import type { Logger } from '@tutti/core'

/** Options of `serve()`. All other settings come from the environment, as for `tutti start`. */
export interface ServeOptions {
  /** Port to listen on; 0 selects a free one. @default PORT, or 7329 */
  readonly port?: number
  /** Address to listen on; addresses other than loopback need TUTTI_API_KEYS. @default HOST, or 127.0.0.1 */
  readonly host?: string
  /** Directory of the embedded store. @default TUTTI_DATA_DIR, or .tutti */
  readonly dataDir?: string
  /** Receives the log of the server. @default standard error */
  readonly logger?: Logger
}

/** A server in this process that accepts requests. */
export interface EnsembleServer extends AsyncDisposable {
  /** Address of the server, such as `http://127.0.0.1:7329`. */
  readonly url: string
  /** Stops the server: it accepts no new runs, lets running ones end within the drain time, and frees port and store. */
  close(): Promise<void>
}
