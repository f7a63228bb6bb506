import { type HandlerContext, runOperator } from 'espalier/operator';

/**
 * The operator of an expansion package: makes true what the package delegates as EnsureKubelet, by writing the settings
 * of the kubelets from what the platform's owner says in a ConfigMap.
 */
await runOperator({
  async EnsureKubelet({ client, namespace, record, progress }: HandlerContext) {
    const wish = { apiVersion: 'v1', kind: 'ConfigMap', namespace, name: 'kubelet-wishes' };
    const found = await client.get(wish);
    if (found === undefined) throw new Error('ConfigMap kubelet-wishes does not exist: say maxPods in it');
    const { maxPods = '110' } = (found.data ?? {}) as Record<string, string>;
    if (!/^[1-9][0-9]{0,3}$/.test(maxPods))
      throw new Error(`maxPods in ConfigMap kubelet-wishes is no number: ${maxPods}`);

    await progress(`writing the settings for ${maxPods} pods a node`);
    const settings = {
      apiVersion: 'kubelet.config.k8s.io/v1beta1',
      kind: 'KubeletConfiguration',
      maxPods: Number(maxPods),
    };
    await client.apply(
      {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'kubelet-settings', namespace, annotations: { 'example.com/written-for': record } },
        data: { 'kubelet.yaml': JSON.stringify(settings) },
      },
      { fieldManager: 'kubelet-operator' },
    );
    return `kubelets may run ${maxPods} pods`;
  },
});
