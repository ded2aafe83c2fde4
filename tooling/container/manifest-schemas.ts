/**
 * Checks objects of Kubernetes and of two operators against the schemas of their APIs. The schemas are compiled to
 * functions that ignore unknown fields, so a field that its function did not read is reported as unknown.
 */
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1/PodDisruptionBudget'
import { Deployment } from 'kubernetes-models/apps/v1/Deployment'
import { StatefulSet } from 'kubernetes-models/apps/v1/StatefulSet'
import { ConfigMap } from 'kubernetes-models/v1/ConfigMap'
import { Service } from 'kubernetes-models/v1/Service'
import { ScaledObject } from '@kubernetes-models/keda/keda.sh/v1alpha1/ScaledObject'
import { TriggerAuthentication } from '@kubernetes-models/keda/keda.sh/v1alpha1/TriggerAuthentication'
import { ServiceMonitor } from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/ServiceMonitor'

import type { Manifest } from './kustomize.ts'

const MODELS = [
  ConfigMap,
  Deployment,
  PodDisruptionBudget,
  ScaledObject,
  Service,
  ServiceMonitor,
  StatefulSet,
  TriggerAuthentication,
]

/** Returns what the API of an object would refuse, and its unknown fields, one line each. */
export function schemaProblems(manifest: Manifest): readonly string[] {
  const { apiVersion, kind, metadata } = manifest
  const model = MODELS.find((other) => other.apiVersion === apiVersion && other.kind === kind)
  if (model === undefined) return [`No schema for ${apiVersion} ${kind}`]
  const unread = new Set<string>()
  try {
    model.prototype.validate.call(observe(manifest, '', unread))
  } catch (error) {
    return [`${kind} "${metadata.name}": ${String(error)}`]
  }
  return [...unread].map((path) => `${kind} "${metadata.name}" has an unknown field at ${path}`)
}

/** Returns a copy that removes the path of each value from `unread` when it is read. */
function observe(value: unknown, path: string, unread: Set<string>): unknown {
  if (typeof value !== 'object' || value === null) return value
  const pathOf = (key: string): string => `${path}/${key}`
  const entries = Object.entries(value).map(([key, item]) => {
    unread.add(pathOf(key))
    return [key, observe(item, pathOf(key), unread)] as const
  })
  const copy = Array.isArray(value) ? entries.map(([, item]) => item) : Object.fromEntries(entries)
  return new Proxy(copy, {
    get: (target, key, receiver): unknown => {
      if (typeof key === 'string') unread.delete(pathOf(key))
      return Reflect.get(target, key, receiver)
    },
  })
}
