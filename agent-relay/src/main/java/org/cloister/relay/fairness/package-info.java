/** Fair queues, token buckets and limits per project. */
@NullMarked
package org.cloister.relay.fairness;

import org.jspecify.annotations.NullMarked;
