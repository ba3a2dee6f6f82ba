/** Plans a VM from its ticket or opening, its allocation and the host's images. */
@NullMarked
package org.cloister.host.plan;

import org.jspecify.annotations.NullMarked;
