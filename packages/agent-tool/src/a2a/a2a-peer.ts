/** An agent that is spoken to over A2A, by its SDK; what goes in and out is the JSON of A2A 1.0. */
import type { AgentCard } from './agent-card.ts'
import type { A2aStreamItem, A2aSendRequest, AgentTask } from './wire.ts'
import type { Client, RequestOptions } from '@a2a-js/sdk/client'

/** The operations of an agent, for one call. What they throw is the SDK's. */
export interface A2aPeer {
  readonly streams: boolean
  /**
   * Whether streams do not say that a part of an artifact goes after the one before. The SDK (1.3.0) leaves
   * `append` out when it reads streams of 0.3 over REST.
   */
  readonly losesAppend: boolean
  /** Sends a message and follows what comes of it. */
  stream(request: A2aSendRequest): AsyncIterable<A2aStreamItem>
  /** Sends a message; `waits` asks the agent to answer when it is done, and not at once. */
  send(request: A2aSendRequest, options: { readonly waits: boolean }): Promise<A2aStreamItem>
  getTask(taskId: string): Promise<AgentTask>
  /** Follows a task that is under way: first its snapshot, then what comes. */
  subscribe(taskId: string): AsyncIterable<A2aStreamItem>
  cancelTask(taskId: string, signal: AbortSignal): Promise<void>
}

/** How an agent is reached for one call. */
export interface A2aPeerOptions {
  readonly fetch: typeof globalThis.fetch
  /** Sent with every request. */
  readonly headers: Readonly<Record<string, string>>
  readonly signal: AbortSignal
}

/** Makes the peer that a card tells of. The SDK is loaded here. */
export async function connectPeer(card: AgentCard, options: A2aPeerOptions): Promise<A2aPeer> {
  const [codecs, client] = await Promise.all([import('@a2a-js/sdk'), createClient(card, options)])
  const { SendMessageRequest, StreamResponse, Task } = codecs
  const common: RequestOptions = {
    signal: options.signal,
    serviceParameters: { ...options.headers },
  }
  const requestOf = (request: A2aSendRequest, returnImmediately = false) =>
    SendMessageRequest.fromJSON({ ...request, configuration: { returnImmediately } })
  // NOTE: the codecs of the SDK write the JSON of A2A 1.0, which these types are a part of.
  const taskOf = (task: Parameters<typeof Task.toJSON>[0]) => Task.toJSON(task) as AgentTask
  async function* newsOf(
    stream: AsyncIterable<Parameters<typeof StreamResponse.toJSON>[0]>,
  ): AsyncGenerator<A2aStreamItem> {
    // NOTE: as above.
    for await (const event of stream) yield StreamResponse.toJSON(event) as A2aStreamItem
  }
  return {
    streams: card.streams,
    losesAppend: card.place.version === '0.3' && card.place.binding === 'HTTP+JSON',
    stream: (request) => newsOf(client.sendMessageStream(requestOf(request), common)),
    async send(request, { waits }) {
      const answer = await client.sendMessage(requestOf(request, !waits), common)
      if ('messageId' in answer) {
        // NOTE: as above.
        return StreamResponse.toJSON({
          payload: { $case: 'message', value: answer },
        }) as A2aStreamItem
      }
      return { task: taskOf(answer) }
    },
    getTask: async (id) => taskOf(await client.getTask({ tenant: '', id }, common)),
    subscribe: (id) => newsOf(client.resubscribeTask({ tenant: '', id }, common)),
    async cancelTask(id, signal) {
      await client.cancelTask({ tenant: '', id, metadata: undefined }, { ...common, signal })
    },
  }
}

/** The client is told of the one place that was chosen, so that it has nothing to choose. */
async function createClient(
  { name, place, streams }: AgentCard,
  { fetch }: A2aPeerOptions,
): Promise<Client> {
  const [{ AgentCard: Codec }, sdk] = await Promise.all([
    import('@a2a-js/sdk'),
    import('@a2a-js/sdk/client'),
  ])
  const { ClientFactory, JsonRpcTransportFactory, RestTransportFactory } = sdk
  const transport = { fetchImpl: fetch, legacyCompat: { enabled: true } }
  const factory = new ClientFactory({
    transports: [new JsonRpcTransportFactory(transport), new RestTransportFactory(transport)],
  })
  return factory.createFromAgentCard(
    Codec.fromJSON({
      name,
      supportedInterfaces: [
        {
          url: place.url,
          protocolBinding: place.binding,
          protocolVersion: place.version,
          tenant: place.tenant,
        },
      ],
      capabilities: { streaming: streams },
    }),
  )
}
