/** Pure: what of the limits of a template holds for tasks that a request defines. */
import type { DelegationLimits } from '@tutti/ensemble'

/**
 * The same limits for agents of other roles. A worker that may not be delegated to stays so; what the
 * template demands of workers that are not there cannot be demanded.
 */
export function limitsOf(
  { requiredWorkers: _workers, requiredStages: _stages, ...limits }: DelegationLimits,
  roles: readonly string[],
): DelegationLimits {
  const { allowedWorkers, maxCallsPerWorker } = limits
  const isKnown = (role: string): boolean => roles.includes(role)
  return {
    ...limits,
    ...(allowedWorkers === undefined ? {} : { allowedWorkers: allowedWorkers.filter(isKnown) }),
    ...(typeof maxCallsPerWorker !== 'object'
      ? {}
      : {
          maxCallsPerWorker: Object.fromEntries(
            Object.entries(maxCallsPerWorker).filter(([role]) => isKnown(role)),
          ),
        }),
  }
}
