/** For the other packages of Tutti only: its names may change in every version. */
export { describeMetrics } from './metrics/server-metrics.ts'
export { scheduleAuthorizer } from './auth/authorize-schedule.ts'
export { redactor } from './secrets/redactor.ts'
export { cancelOrphans, OrphanWatch, type Redactor } from '@tutti/gateway/internal'
