/** NATS JetStream as the dispatcher and the notifications of a Postgres store. */
export { natsEngine } from './nats-engine.ts'
export type { NatsEngineOptions } from './options.ts'
