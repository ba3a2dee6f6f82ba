package org.cloister.lab.guest;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.cloister.ipsec.DerCertificate;
import org.cloister.ipsec.EspMode;
import org.cloister.ipsec.TunnelCredential;
import org.cloister.ipsec.TunnelIdentity;
import org.cloister.ipsec.TunnelPlan;
import org.cloister.lab.GuestJava;
import org.cloister.lab.LabProjectKeys;
import org.cloister.lab.LabVm;
import org.cloister.luks.secret.SecretAllocator;
import org.cloister.vm.system.tunnel.LockedPrivateKey;
import org.cloister.vm.system.tunnel.TunnelPeer;

/**
 * A folder of a guest with the files for its tunnels: {@code NAME.crt} and {@code NAME.key} of machines,
 * {@code ca0.crt} and so on.
 */
public record GuestProjectFolder(Path folder) {
    private static final int LONGEST_KEY = 4096;

    /**
     * Creates the folder in a guest, with new certificates.
     *
     * @param own a folder here, which has them too
     */
    public void copyTo(LabVm vm, LabProjectKeys keys, List<TunnelIdentity> identities, Path own) throws IOException {
        vm.succeed("mkdir", "-p", "-m", "700", folder.toString());
        for (TunnelIdentity identity : identities) {
            Path certificate = own.resolve(identity.id() + ".crt");
            Path key = own.resolve(identity.id() + ".key");
            keys.write(identity, certificate, key);
            for (Path file : List.of(certificate, key)) {
                copyTo(vm, file.getFileName().toString(), Files.readAllBytes(file));
            }
        }
        int number = 0;
        for (DerCertificate each : keys.authorities()) {
            copyTo(vm, authority(number++), each.der());
        }
    }

    private void copyTo(LabVm vm, String name, byte[] content) throws IOException {
        GuestJava.writeFile(vm, folder.resolve(name).toString(), content);
    }

    /**
     * Returns, in the guest, a plan without peers. The key is in locked memory for as long as this program runs, as in
     * an agent.
     */
    TunnelPlan plan(SecretAllocator secrets, TunnelPeer self) throws IOException {
        List<DerCertificate> authorities = new ArrayList<>();
        for (int i = 0; Files.exists(folder.resolve(authority(i))); i++) {
            authorities.add(DerCertificate.parse(Files.readAllBytes(folder.resolve(authority(i)))));
        }
        DerCertificate own = DerCertificate.parse(Files.readAllBytes(folder.resolve(self.name() + ".crt")));
        LockedPrivateKey key =
                new LockedPrivateKey(secrets.readFile(folder.resolve(self.name() + ".key"), LONGEST_KEY));
        return TunnelPlan.of(
                self.identity(), self.address(), new TunnelCredential(own, key), authorities, EspMode.KERNEL);
    }

    private static String authority(int number) {
        return "ca" + number + ".crt";
    }
}
