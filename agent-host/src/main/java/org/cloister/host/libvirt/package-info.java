/** The connection to libvirtd, its events and bounded calls. */
@NullMarked
package org.cloister.host.libvirt;

import org.jspecify.annotations.NullMarked;
