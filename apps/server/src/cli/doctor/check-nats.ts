/** Checks the NATS client and cluster. Runs execute without the cluster, but the server needs the client to start. */
import { TuttiError } from '@tutti/core'
import { errorMessage } from '@tutti/core/internal'

import { findingsFor, type Finding } from '../../checks/finding.ts'

import type { NatsEnvironment } from '../../environment/env.ts'

const { ok, problem, warning } = findingsFor('nats')

/** Checks the cluster without writing to it. */
export async function checkNats(nats: NatsEnvironment): Promise<Finding> {
  const { readClusterState } = await import('@tutti/nats/internal')
  try {
    const { version, offers } = await readClusterState(nats)
    const use = offers === undefined ? 'no runs were offered yet' : `offers of runs: ${offers}`
    return ok(`NATS ${version} with JetStream dispatches runs; ${use}`)
  } catch (error) {
    if (TuttiError.isInstance(error) && error.code === 'NOT_CONFIGURED')
      return problem(error.message)
    return warning(
      `NATS of NATS_URL cannot be used, so Postgres dispatches runs: ${errorMessage(error)}`,
      'Start its servers with JetStream ("nats-server --jetstream"), or correct their addresses',
    )
  }
}
