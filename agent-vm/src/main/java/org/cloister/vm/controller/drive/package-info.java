/** The project's drive in its controlling VM: a LUKS2 volume under the key that an opener brings, and the folders on it. */
@NullMarked
package org.cloister.vm.controller.drive;

import org.jspecify.annotations.NullMarked;
