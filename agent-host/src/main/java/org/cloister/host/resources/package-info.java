/** Creates, finds and deletes a VM's folder, tap device, bridge port and domain. */
@NullMarked
package org.cloister.host.resources;

import org.jspecify.annotations.NullMarked;
