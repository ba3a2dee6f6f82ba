/** A worker's scratch disk: encrypted for one job, and erased after it. */
@NullMarked
package org.cloister.vm.worker.scratch;

import org.jspecify.annotations.NullMarked;
