/** A VM as libvirt is told of it and as libvirt tells of it: values and XML, without libvirt. */
@NullMarked
package org.cloister.host.domain;

import org.jspecify.annotations.NullMarked;
