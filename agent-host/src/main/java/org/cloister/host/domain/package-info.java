/** Domains of libvirt: specification, XML, CPUs and memory protection. */
@NullMarked
package org.cloister.host.domain;

import org.jspecify.annotations.NullMarked;
