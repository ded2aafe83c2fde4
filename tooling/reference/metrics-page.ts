/** Generates the reference page of metrics from the instruments of the server. */
import { describeMetrics } from '../../packages/control-api/src/internal.ts'
import { code, page, table } from './markdown.ts'

/** Returns the text of `docs/reference/metrics.md`. */
export function metricsPage(): string {
  const rows = describeMetrics().map(({ name, type, labels, help }) => [
    code(name),
    type,
    labels.map(code).join(' '),
    help,
  ])
  return page('Metrics', [
    'Metrics of `GET /metrics`, in the order of the response. How to scrape it: [Metrics and logs](../metrics.md).',
    '',
    'A histogram `x` has `x_bucket` with the label `le`, `x_sum` and `x_count`.',
    '',
    ...table(['metric', 'type', 'labels', 'tells'], rows),
  ])
}
