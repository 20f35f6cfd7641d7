/** The search foresees the others' moves with a model from before the last updates. */
import type { CauseEntry } from '../../cause.ts';

export const searchModelStale: CauseEntry = {
  id: 'search-model-stale',
  group: 'A',
  place: 55,
  decidedBy: ['samples.foreseen', 'samples.likelihood', 'samples.drawn_goal'],
  meaning: "The search foresees the others' moves with a model from before the last updates.",
  toldApart: 'Chances in the search differ from those of the present model once it has learnt, and agree before that.',
  symptoms: ['planning lags behind partners that change', 'planning gains nothing from longer training of the models'],
  proof: 'The chance of each move in the search beside that of the model which the beliefs use.',
  remedy: 'Give the search the model itself, or copy its weights after every update.',
  pytorch: 'search.model.load_state_dict(model.state_dict())   # after every update',
  trueline: 'model: crew.modelOf(learner)  // stages.planner.model',
  chinese: {
    symptoms: ['同伴在变，规划落在后面', '模型训练得更久，规划也没有变好'],
    meaning: '搜索用最近几次更新之前的模型预见他人的动作。',
    remedy: '把模型本身交给搜索，或在每次更新之后复制其权重。',
    toldApart: '模型学到东西之后，搜索中的概率就与当前模型不同；在此之前一致。',
    proof: '搜索中各动作的概率，与信念所用模型给出的并列。',
  },
};
