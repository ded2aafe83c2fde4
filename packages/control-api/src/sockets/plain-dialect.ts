/** Dialect of a server without extensions: `hello` has no past events, and events are sent unchanged. */
import {
  largeJson,
  sharedCapabilities,
  type ConnectionDialect,
  type Sharing,
} from '@tutti/gateway/internal'

/** Creates the dialect of a connection. */
export function plainDialect(sharing: Sharing): ConnectionDialect {
  return {
    greet: async () => ({
      hello: await largeJson({ type: 'hello', sharedCapabilities: sharedCapabilities(sharing) }),
      continueWith: (early) => ({ reviews: [], fresh: early }),
    }),
    followUp: () => undefined,
    afterRefusal: () => Promise.resolve(undefined),
  }
}
