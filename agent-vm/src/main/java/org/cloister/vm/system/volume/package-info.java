/** A VM's disks and volumes, and the volume status file. */
@NullMarked
package org.cloister.vm.system.volume;

import org.jspecify.annotations.NullMarked;
