/** The lab's cluster of namespaces: machines, networks, daemons and VMs. */
@NullMarked
package org.cloister.lab;

import org.jspecify.annotations.NullMarked;
