/** The scratch volume and its erasure. */
@NullMarked
package org.cloister.vm.worker.scratch;

import org.jspecify.annotations.NullMarked;
