/** Mounting ext4, the holders of mounts, and unmounting. */
@NullMarked
package org.cloister.vm.system.mount;

import org.jspecify.annotations.NullMarked;
