/** The options and the result of `serve()`. */
import type { Logger } from '@tutti/core'

/** Options of `serve()`. Everything else comes from the environment, as it does for `tutti start`. */
export interface ServeOptions {
  /** Port to listen on; 0 selects any free one. @default PORT, or 7329 */
  readonly port?: number
  /** Address to listen on; any other than loopback needs TUTTI_API_KEYS. @default HOST, or 127.0.0.1 */
  readonly host?: string
  /** Directory of the embedded store. @default TUTTI_DATA_DIR, or .tutti */
  readonly dataDir?: string
  /** Receives the log of the server. @default standard error */
  readonly logger?: Logger
}

/** A server in this process that accepts requests. */
export interface EnsembleServer extends AsyncDisposable {
  /** Such as `http://127.0.0.1:7329`. */
  readonly url: string
  /** Accepts no new runs, lets running ones end within the drain time, and frees the port and the store. */
  close(): Promise<void>
}
