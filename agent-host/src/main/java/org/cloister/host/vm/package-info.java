/** The owner and the names of a VM's resources on its host, and the failure of a start. */
@NullMarked
package org.cloister.host.vm;

import org.jspecify.annotations.NullMarked;
