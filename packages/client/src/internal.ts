/** For the other packages of Tutti only: its names may change in every version. */
export type { Fetch, OpenSocket, SocketLike } from './options.ts'
export type { ForkBody } from './runs/runs-types.ts'
export type { Clock } from '@tutti/protocol/internal'
export type { LocalErrorCode } from './errors.ts'
