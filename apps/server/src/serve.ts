/** `serve()`: a Tutti server in the caller's process. The server itself is loaded by the first call. */
import type { Logger } from '@tutti/core'
import type { Ensemble } from '@tutti/ensemble'

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

/**
 * Serves one ensemble or several from this process, with the control API and the dashboard. The environment counts as
 * for `tutti start`; a config file does not. Signals of the process are left to the caller: unfinished runs continue
 * at the next start, whether the server was closed or not.
 *
 * @throws {TypeError} for unknown or invalid options.
 * @throws {TuttiError} CONFIG_INVALID, STORE_LOCKED, SCHEMA_TOO_NEW or STORE_UNAVAILABLE; nothing is left open.
 */
export async function serve(
  ensembles: Ensemble | readonly Ensemble[],
  options: ServeOptions = {},
): Promise<EnsembleServer> {
  const { serveEnsembles } = await import('./start/serve-ensembles.ts')
  return serveEnsembles(ensembles, options)
}
