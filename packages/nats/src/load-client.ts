/**
 * Loads the code that imports the NATS client, which users install themselves.
 *
 * NATS-L1 The client is loaded when it is first used. If it is not installed, the error says how to install it.
 */
import { TuttiError } from '@tutti/core'

/** Command that installs the client, in the versions with which this package works. */
const INSTALL = 'npm install @nats-io/jetstream@3 @nats-io/transport-node@3'

/**
 * Loads a module that imports the client.
 *
 * @throws {TuttiError} NOT_CONFIGURED when the client is not installed.
 */
export async function loadClient<Module>(load: () => Promise<Module>): Promise<Module> {
  try {
    return await load()
  } catch (cause) {
    const missing = findMissingPackage(cause)
    if (missing === undefined) throw cause
    throw new TuttiError(
      'NOT_CONFIGURED',
      `Cannot use NATS: the package ${missing} is not installed; run "${INSTALL}"`,
      { cause },
    )
  }
}

/** Returns the package of the client that an import did not find; undefined for other errors. */
function findMissingPackage(cause: unknown): string | undefined {
  if (!(cause instanceof Error) || !('code' in cause)) return undefined
  if (cause.code !== 'ERR_MODULE_NOT_FOUND') return undefined
  return /'(@nats-io\/[\w-]+)'/.exec(cause.message)?.[1]
}
