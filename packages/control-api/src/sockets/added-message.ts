/** Finds the handlers that extensions add. */
import type { ExtensionMessage, ServerExtension } from '@tutti/gateway/internal'
import type { ClientMessage } from '@tutti/protocol'

/** Returns the handler of an extension for a type of messages; undefined if no extension answers them. */
export function findAddedMessage<T extends ClientMessage['type']>(
  type: T,
  extensions: readonly ServerExtension[],
): ExtensionMessage<T> | undefined {
  for (const { messages = {} } of extensions) {
    const table: { readonly [K in ClientMessage['type']]?: ExtensionMessage<K> } = messages
    const handler: ExtensionMessage<T> | undefined = table[type]
    if (handler !== undefined) return handler
  }
  return undefined
}
