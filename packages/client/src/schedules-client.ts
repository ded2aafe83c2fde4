/** The schedules of a server. */
import { ROUTES, routePath, type RunAccepted, type ScheduleDetail } from '@tutti/protocol'
import type {
  CreateScheduleBody,
  ReplaceScheduleBody,
  ScheduleList,
  ScheduleQuery,
} from '@tutti/protocol/internal'

import { callPlainRoute, callRoute } from './http/call-route.ts'

import type { CallOptions } from './http/exchange.ts'
import type { ResolvedClientOptions } from './options.ts'

/**
 * Schedules of a server: each submits a run at the ticks of its cron expression. Every method throws
 * {@link TuttiClientError}; an empty name is a TypeError.
 */
export interface SchedulesClient {
  /** Creates a schedule, or fails with SCHEDULE_EXISTS. */
  create(body: CreateScheduleBody, options?: CallOptions): Promise<ScheduleDetail>
  /** Returns all schedules, by name. */
  list(options?: CallOptions): Promise<ScheduleList>
  /** Returns a schedule with its next ticks. */
  get(name: string, query?: ScheduleQuery, options?: CallOptions): Promise<ScheduleDetail>
  /** Replaces the definition of a schedule. */
  replace(name: string, body: ReplaceScheduleBody, options?: CallOptions): Promise<ScheduleDetail>
  /** Pauses a schedule: it has no ticks until it is resumed. */
  pause(name: string, options?: CallOptions): Promise<ScheduleDetail>
  /** Resumes a schedule at its next tick. */
  resume(name: string, options?: CallOptions): Promise<ScheduleDetail>
  /** Submits a run of a schedule now. Its ticks are not affected. */
  run(name: string, options?: CallOptions): Promise<RunAccepted>
  /** Deletes a schedule. Its runs remain. */
  delete(name: string, options?: CallOptions): Promise<void>
}

/** Creates the schedules part of a client. */
export function createSchedulesClient(settings: ResolvedClientOptions): SchedulesClient {
  return {
    create: async (body, options = {}) =>
      callRoute(settings, ROUTES.createSchedule, {
        ...options,
        path: routePath('createSchedule'),
        body,
      }),
    list: async (options) =>
      callRoute(settings, ROUTES.listSchedules, { ...options, path: routePath('listSchedules') }),
    get: async (name, query = {}, options = {}) =>
      callRoute(settings, ROUTES.getSchedule, {
        ...options,
        path: routePath('getSchedule', { name }),
        query,
      }),
    replace: async (name, body, options = {}) =>
      callRoute(settings, ROUTES.replaceSchedule, {
        ...options,
        path: routePath('replaceSchedule', { name }),
        body,
        isSafe: true,
      }),
    pause: async (name, options) =>
      callRoute(settings, ROUTES.pauseSchedule, {
        ...options,
        path: routePath('pauseSchedule', { name }),
        isSafe: true,
      }),
    resume: async (name, options) =>
      callRoute(settings, ROUTES.resumeSchedule, {
        ...options,
        path: routePath('resumeSchedule', { name }),
        isSafe: true,
      }),
    run: async (name, options) =>
      callRoute(settings, ROUTES.runSchedule, {
        ...options,
        path: routePath('runSchedule', { name }),
      }),
    async delete(name, options) {
      const path = routePath('deleteSchedule', { name })
      await callPlainRoute(settings, ROUTES.deleteSchedule, { ...options, path })
    },
  }
}
