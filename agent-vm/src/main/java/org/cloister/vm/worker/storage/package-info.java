/** The project's files: mounted by workers, exported by the controlling VM to each of them alone. */
@NullMarked
package org.cloister.vm.worker.storage;

import org.jspecify.annotations.NullMarked;
