/** The owner and the names of a VM's resources on its host. */
@NullMarked
package org.cloister.host.vm;

import org.jspecify.annotations.NullMarked;
