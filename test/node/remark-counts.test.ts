import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RemarkCounts } from '../../src/node/metrics/remark-counts.js';

test('a hundred made-up product names get a series each, others share one', () => {
  const counts = new RemarkCounts();
  for (let n = 0; n < 150; n++) counts.add('zero-stake', `P${n}`);
  counts.add('zero-stake', 'P0');
  counts.add('repeat', 'P0');
  counts.add('repeat', undefined);
  const [byRemark, byProduct] = counts.metrics().map(({ values }) => values);
  const countOf = (labels: object) =>
    byProduct?.find((one) => JSON.stringify(one.labels) === JSON.stringify(labels))?.value;
  assert.equal(byProduct?.length, 101);
  assert.equal(countOf({ remark: 'zero-stake', product: 'P0' }), 2);
  assert.equal(countOf({ remark: 'zero-stake', product: 'other' }), 50);
  assert.equal(byRemark?.find(({ labels }) => labels.remark === 'zero-stake')?.value, 151);
  assert.equal(byRemark?.find(({ labels }) => labels.remark === 'repeat')?.value, 2);
});
