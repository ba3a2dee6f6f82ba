/** The host's libvirtd: our domains in it, and nobody else's. The binding is used here alone. */
@NullMarked
package org.cloister.host.libvirt;

import org.jspecify.annotations.NullMarked;
