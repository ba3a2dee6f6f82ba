/** Ways out by name: what a gateway looks up becomes addresses that plans permit, and entries of hosts(5) for machines. */
@NullMarked
package org.cloister.ovs.dns;

import org.jspecify.annotations.NullMarked;
