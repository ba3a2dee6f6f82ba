/** Mounts of the project's storage. */
@NullMarked
package org.cloister.vm.worker.storage;

import org.jspecify.annotations.NullMarked;
