/** The NFS server and its exports. */
@NullMarked
package org.cloister.vm.controller.storage;

import org.jspecify.annotations.NullMarked;
