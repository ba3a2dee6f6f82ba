package org.cloister.host.libvirt;

import com.sun.jna.Library;
import com.sun.jna.Native;
import com.sun.jna.Pointer;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;
import org.libvirt.jna.ConnectionPointer;

/** What libvirt says a domain on this host may have; libvirt-java 0.5.4 does not ask for it. */
final class DomainCapabilities {
    private static final Virt VIRT = Native.load("virt", Virt.class);

    private DomainCapabilities() {}

    /** Public, for JNA makes a class of it. */
    public interface Virt extends Library {
        /** libvirt-domain.h; the text is the caller's to free. */
        @Nullable
        Pointer virConnectGetDomainCapabilities(
                ConnectionPointer connection,
                @Nullable String emulator,
                String arch,
                String machine,
                @Nullable String virtType,
                int flags);

        /** Of this thread's last call; the text is libvirt's. */
        String virGetLastErrorMessage();
    }

    /** Of the machine that our domains are; without KVM there is nothing to protect. */
    static String of(LibvirtSession.NativeConnection connection) throws HypervisorUnavailable {
        Pointer text = VIRT.virConnectGetDomainCapabilities(connection.pointer(), null, "x86_64", "q35", null, 0);
        if (text == null) {
            throw new HypervisorUnavailable("libvirt: domain capabilities: " + VIRT.virGetLastErrorMessage());
        }
        try {
            return text.getString(0, StandardCharsets.UTF_8.name());
        } finally {
            Native.free(Pointer.nativeValue(text));
        }
    }
}
