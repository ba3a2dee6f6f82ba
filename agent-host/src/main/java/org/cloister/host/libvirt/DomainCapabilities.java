package org.cloister.host.libvirt;

import com.sun.jna.Library;
import com.sun.jna.Native;
import com.sun.jna.Pointer;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;
import org.libvirt.jna.ConnectionPointer;

/** Queries the domain capabilities of this host; libvirt-java 0.5.4 has no method for it. */
final class DomainCapabilities {
    private static final Virt VIRT = Native.load("virt", Virt.class);

    private DomainCapabilities() {}

    /** Binding of libvirt; public, because JNA generates a class from it. */
    public interface Virt extends Library {
        /** Function of libvirt-domain.h; the caller must free the text. */
        @Nullable
        Pointer virConnectGetDomainCapabilities(
                ConnectionPointer connection,
                @Nullable String emulator,
                String arch,
                String machine,
                @Nullable String virtType,
                int flags);

        /** Returns the error of this thread's last call; libvirt owns the text. */
        String virGetLastErrorMessage();
    }

    /** Returns the capabilities for our domains' machine type; without KVM no memory protection is available. */
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
