/** Calls an agent over A2A with its SDK. Inputs and outputs are the JSON of A2A 1.0. */
import type { AgentCard } from './agent-card.ts'
import type { A2aStreamItem, A2aSendRequest, AgentTask } from './wire.ts'
import type { Client, RequestOptions } from '@a2a-js/sdk/client'

/** Operations of an agent for one call. They throw errors of the SDK. */
export interface A2aPeer {
  readonly streams: boolean
  /**
   * Whether streams do not mark appended parts of an artifact. The SDK (1.3.0) omits `append` when it reads
   * streams of 0.3 over REST.
   */
  readonly losesAppend: boolean
  /** Sends a message and streams the updates of its task. */
  stream(request: A2aSendRequest): AsyncIterable<A2aStreamItem>
  /** Sends a message. `waits` requests the response when the task is done instead of immediately. */
  send(request: A2aSendRequest, options: { readonly waits: boolean }): Promise<A2aStreamItem>
  getTask(taskId: string): Promise<AgentTask>
  /** Streams a running task: first its snapshot, then its updates. */
  subscribe(taskId: string): AsyncIterable<A2aStreamItem>
  cancelTask(taskId: string, signal: AbortSignal): Promise<void>
}

/** Connection settings of one call. */
export interface A2aPeerOptions {
  readonly fetch: typeof globalThis.fetch
  /** Headers of every request. */
  readonly headers: Readonly<Record<string, string>>
  readonly signal: AbortSignal
}

/** Connects to the agent that a card describes. Loads the SDK. */
export async function connectPeer(card: AgentCard, options: A2aPeerOptions): Promise<A2aPeer> {
  const [codecs, client] = await Promise.all([import('@a2a-js/sdk'), createClient(card, options)])
  const { SendMessageRequest, StreamResponse, Task } = codecs
  const common: RequestOptions = {
    signal: options.signal,
    serviceParameters: { ...options.headers },
  }
  const toRequest = (request: A2aSendRequest, returnImmediately = false) =>
    SendMessageRequest.fromJSON({ ...request, configuration: { returnImmediately } })
  // NOTE: the codecs of the SDK write the JSON of A2A 1.0, and these types are a subset of it.
  const toTask = (task: Parameters<typeof Task.toJSON>[0]) => Task.toJSON(task) as AgentTask
  async function* toItems(
    stream: AsyncIterable<Parameters<typeof StreamResponse.toJSON>[0]>,
  ): AsyncGenerator<A2aStreamItem> {
    // NOTE: as above.
    for await (const event of stream) yield StreamResponse.toJSON(event) as A2aStreamItem
  }
  return {
    streams: card.streams,
    losesAppend: card.endpoint.version === '0.3' && card.endpoint.binding === 'HTTP+JSON',
    stream: (request) => toItems(client.sendMessageStream(toRequest(request), common)),
    async send(request, { waits }) {
      const answer = await client.sendMessage(toRequest(request, !waits), common)
      if ('messageId' in answer) {
        // NOTE: as above.
        return StreamResponse.toJSON({
          payload: { $case: 'message', value: answer },
        }) as A2aStreamItem
      }
      return { task: toTask(answer) }
    },
    getTask: async (id) => toTask(await client.getTask({ tenant: '', id }, common)),
    subscribe: (id) => toItems(client.resubscribeTask({ tenant: '', id }, common)),
    async cancelTask(id, signal) {
      await client.cancelTask({ tenant: '', id, metadata: undefined }, { ...common, signal })
    },
  }
}

/** Passes only the selected interface to the client, so that it cannot choose another. */
async function createClient(
  { name, endpoint, streams }: AgentCard,
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
          url: endpoint.url,
          protocolBinding: endpoint.binding,
          protocolVersion: endpoint.version,
          tenant: endpoint.tenant,
        },
      ],
      capabilities: { streaming: streams },
    }),
  )
}
