/** A scripted model, so that the example needs no key. To use a provider: langchainModel('anthropic:claude-haiku-4-5'). */
import { scriptedModel } from '@tutti/testing'

export const model = scriptedModel([
  { toolCalls: [{ name: 'to_fahrenheit', arguments: { celsius: 21 } }] },
  'Lisbon has 69.8 °F today.',
  'A shirt will do.',
])
