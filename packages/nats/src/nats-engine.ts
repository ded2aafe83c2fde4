/** NATS JetStream as the engine of a Postgres store. */
import { NatsDispatcher } from './nats-dispatcher.ts'
import { NatsLink } from './nats-link.ts'
import { NatsNotifications } from './nats-notifications.ts'
import { resolveNatsEngineOptions, type NatsEngineOptions } from './options.ts'
import { createNames } from './subjects.ts'

import type { ConnectEngine } from '@tutti/runs'

/**
 * Returns the engine for option `engine` of `postgresRunStorage`. It connects in the background: while NATS cannot be
 * reached, the store dispatches and notifies by itself.
 *
 * @throws {RangeError} naming every option that is out of range.
 */
export function natsEngine(options: NatsEngineOptions): ConnectEngine {
  const settings = resolveNatsEngineOptions(options)
  const names = createNames(settings.prefix)
  return (host) => {
    const { logger, processName } = host
    const link = new NatsLink({
      settings,
      names,
      logger,
      processName,
      onOpen: (client) => {
        notifications.onOpen(client)
      },
      onChange: () => {
        dispatcher.onLink()
        host.receive([{ kind: 'missed' }])
      },
    })
    const dispatcher = new NatsDispatcher({ host, link, names, settings })
    const notifications = new NatsNotifications({ host, link, names })
    return {
      dispatcher,
      notifications,
      async [Symbol.asyncDispose]() {
        dispatcher.stop()
        await link.close()
      },
    }
  }
}
