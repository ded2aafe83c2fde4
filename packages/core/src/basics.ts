/** For the other packages of Tutti only: what code without tools and schemas needs, such as a thread that must start quickly. */
export { type Clock, systemClock } from './clock.ts'
export { errorMessage, TuttiError } from './errors.ts'
export { type Logger, silentLogger } from './logger.ts'
