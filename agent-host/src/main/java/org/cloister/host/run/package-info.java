/** Job steps' VMs from the call to the end, and how each ended. */
@NullMarked
package org.cloister.host.run;

import org.jspecify.annotations.NullMarked;
