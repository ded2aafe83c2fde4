/** Creates the engine with the loaded client. */
import { NatsDispatcher } from './nats-dispatcher.ts'
import { NatsLink } from './nats-link.ts'
import { NatsNotifications } from './nats-notifications.ts'
import { createNames } from './subjects.ts'

import type { ConnectEngine } from '@tutti/runs/adapter'
import type { ResolvedNatsEngineOptions } from './options.ts'

/** Returns the engine for validated options. */
export function createEngine(settings: ResolvedNatsEngineOptions): ConnectEngine {
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
